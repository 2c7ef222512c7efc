// A REST server: GET /api is answered with a greeting.

import { createServer } from 'node:http';

const port = Number(process.argv[2]);

const greeting = Buffer.from('{"greeting":"Hello World!"}');

const server = createServer((request, response) => {
  if (request.method !== 'GET' || request.url !== '/api') {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': greeting.length,
  });
  response.end(greeting);
});

server.listen(port, '127.0.0.1', 1024);
