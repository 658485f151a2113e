"""Reports of results: sentences, tables, figures and pages."""
