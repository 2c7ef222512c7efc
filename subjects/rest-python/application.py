"""A REST application: GET /api is answered with a greeting."""

GREETING = b'{"greeting":"Hello World!"}'


async def application(scope, receive, send):
    """The ASGI application."""
    if scope["type"] != "http":
        return
    found = scope["method"] == "GET" and scope["path"] == "/api"
    body = GREETING if found else b""
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": 200 if found else 404, "headers": headers})
    await send({"type": "http.response.body", "body": body})
