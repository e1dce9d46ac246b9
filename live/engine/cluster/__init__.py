"""Engines on other machines, through Dask."""
