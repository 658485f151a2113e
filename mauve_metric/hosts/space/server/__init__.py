"""The endpoints, and what a request passes before gradio and after it."""
