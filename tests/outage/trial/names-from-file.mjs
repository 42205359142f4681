// Preloaded into the product (`NODE_OPTIONS=--import`): names under `.outage.test` have the addresses that the file of
// OUTAGE_NAMES gives them, or none, so that a trial needs no name server of its own and no right to change the system's.
import dns from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const suffix = '.outage.test'
const system = dns.lookup

const unknown = (host) =>
  Object.assign(new Error(`queryA ENOTFOUND ${host}`), { code: 'ENOTFOUND' })

dns.lookup = async (host, options) => {
  if (!host.endsWith(suffix)) return system(host, options)
  const lines = readFileSync(process.env.OUTAGE_NAMES, 'utf8').split('\n')
  const found = lines.map((line) => line.split(' ')).find(([, name]) => name === host)
  if (found === undefined || options?.family === 6) throw unknown(host)
  return [{ address: found[0], family: 4 }]
}

for (const method of ['resolveNaptr', 'resolveSrv', 'resolve4', 'resolve6']) {
  const asked = dns.Resolver.prototype[method]
  dns.Resolver.prototype[method] = function (host, ...rest) {
    return host.endsWith(suffix) ? Promise.reject(unknown(host)) : asked.call(this, host, ...rest)
  }
}

syncBuiltinESMExports()
