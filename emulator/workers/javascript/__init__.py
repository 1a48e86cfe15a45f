"""A Worker in JavaScript or TypeScript: bundled by esbuild, run in workerd, on the account's clock."""
