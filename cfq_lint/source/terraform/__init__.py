"""A Terraform plan, `terraform show -json`, as the tree that wrangler files of the same meaning would give."""
