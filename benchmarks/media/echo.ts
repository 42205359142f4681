// A far end for `media.ts`: sends each datagram back to where it came from. It prints its ports, one line of JSON.
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'

const sockets = Array.from({ length: Number(process.argv[2]) }, (): Socket => {
  const socket = createSocket('udp4')
  socket.on('message', (bytes, { port, address }) => socket.send(bytes, port, address))
  return socket.bind(0, '127.0.0.1')
})
await Promise.all(sockets.map((socket) => once(socket, 'listening')))
console.log(JSON.stringify(sockets.map((socket) => socket.address().port)))
