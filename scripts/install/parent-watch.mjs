// Loaded into the process that the bootstrap starts: when the bootstrap is killed, the pipe between them breaks,
// and the command gets the signal of `kill`.
if (process.channel) {
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel.unref()
  // Programs that the command starts are not children of the bootstrap.
  delete process.env.NODE_CHANNEL_FD
}
