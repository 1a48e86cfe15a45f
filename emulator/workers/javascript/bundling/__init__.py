"""From a Worker's entry to modules that workerd runs, as wrangler bundles it, by esbuild's program alone."""
