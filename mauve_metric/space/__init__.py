"""The page in the browser: human texts and those of one model or several in, scores, curves and texts behind them out.

A view: it reads what a visitor gives, calls the library and shows what comes back. `page.build_app` puts it together.
"""
