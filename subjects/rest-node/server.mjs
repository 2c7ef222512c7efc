// A REST server: GET /api is answered with a greeting.

import { createServer } from 'node:http';

const port = Number(process.argv[2]);

const server = createServer((request, response) => {
  if (request.method !== 'GET' || request.url !== '/api') {
    response.writeHead(404).end();
    return;
  }
  const body = JSON.stringify({ greeting: 'Hello World!' });
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
});

server.listen(port, '127.0.0.1', 1024);
