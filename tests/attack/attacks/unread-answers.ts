import { setTimeout as delay } from 'node:timers/promises'
import { strangerAddress } from '../stage/addresses.ts'
import type { Attack } from '../stage/attack.ts'
import { openConnection } from '../stage/http-connection.ts'
import { judgeProbes, untilCalm } from '../stage/judge-probes.ts'
import { openTenant, type Tenant } from '../stage/tenant.ts'

const readers = 300
const addresses = 30
const pageItems = 100
/** A text of maximum length, in characters of four bytes. */
const longText = '\u{1f600}'.repeat(255)
const watchMs = 5_000
const atOnce = 10
const smallestPageBytes = 400_000

/** Three hundred clients of a tenant request pages of 400 kB, each built anew, and read nothing. */
export const unreadAnswers: Attack = {
  name: 'unread-answers',
  goal: 'memory grows by 150 MB at most, /healthz answers within 200 ms, who reads is served',
  isTimed: true,
  async run({ product, prober, tenant: other }, limits) {
    const tenant = await openTenant(product, 'Unread')
    await fillPage(tenant)
    const path = `/contacts?limit=${pageItems}`
    const pageBytes = JSON.stringify((await tenant.request('GET', path)).body).length
    const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${tenant.key}\r\n\r\n`
    await prober.reset()
    const sockets = await Promise.all(
      Array.from({ length: readers }, (_, index) =>
        openConnection(product.home.apiPort, strangerAddress(300 + (index % addresses))),
      ),
    )
    for (const socket of sockets) {
      socket?.pause()
      socket?.write(request.repeat(3))
    }
    await delay(watchMs)
    await untilCalm(prober)
    const { status } = await other.request('GET', '/contacts?limit=1')
    const judged = judgeProbes(await prober.read(), limits)
    for (const socket of sockets) socket?.destroy()
    return {
      ...judged,
      figure: `pages of ${(pageBytes / 1_000).toFixed(0)} thousand characters, ${judged.figure}`,
      problems: [
        ...judged.problems,
        ...(status === 200 ? [] : [`another organization was answered ${status}`]),
        ...(pageBytes * 2 > smallestPageBytes ? [] : ['the pages are too small to be an attack']),
      ],
    }
  },
}

const fillPage = async (tenant: Tenant): Promise<void> => {
  for (let made = 0; made < pageItems; made += atOnce)
    await Promise.all(
      Array.from({ length: atOnce }, (_, index) =>
        tenant.request('POST', '/contacts', {
          external_id: `unread-${made + index}`,
          name: longText,
          phone_number: `+1646333${String(made + index).padStart(4, '0')}`,
          company: longText,
          role: longText,
          city: longText,
        }),
      ),
    )
}
