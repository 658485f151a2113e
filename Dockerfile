# The page on a machine without a GPU: docker build -t mauve . && docker run -p 7860:7860 mauve
FROM python:3.11-slim
RUN useradd --create-home --uid 1000 user
WORKDIR /home/user/app
COPY requirements.txt .
RUN pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu -r requirements.txt
COPY . .
RUN pip install --no-cache-dir --no-deps .
USER user
ENV GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=7860
EXPOSE 7860
CMD ["mauve-metric", "serve"]
