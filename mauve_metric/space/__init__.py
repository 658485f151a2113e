"""The page in the browser: two sets of texts in, the score, its curves and the texts behind it out.

A view: it reads what a visitor gives, calls the library and shows what comes back. `page.build_app` puts it together.
"""
