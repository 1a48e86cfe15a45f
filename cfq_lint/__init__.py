"""cfq-lint: reads wrangler files and says what is wrong with their queues."""
