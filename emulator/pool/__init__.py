"""Work that is shared: by processes here, or by the workers of a Dask cluster."""
