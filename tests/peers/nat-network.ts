import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { missingPeer } from '../support/peers.ts'

/** A network behind a NAT, in network namespaces: this process is on the public side. */
export interface NatNetwork {
  /** Ours, on the public side. */
  readonly publicAddress: string
  /** The one address that the private network shows. */
  readonly natAddress: string
  readonly privateAddress: string
  /** Starts the script of an end behind the NAT, or on the NAT's own address. */
  startEnd(where: 'inside' | 'nat'): NatEnd
  /** The router restarts: it forgets its bindings and takes other ports. */
  rebind(): void
}

/** A process of `nat-end.ts`. */
export interface NatEnd {
  /** Sends an order and waits for its result. */
  ask<T>(order: Readonly<Record<string, unknown>>): Promise<T>
}

interface NatOptions {
  /** How long the NAT keeps a binding of UDP without a packet. */
  readonly bindingSeconds?: number
}

/** Why no NAT can be made here: it takes `ip`, `nft`, and the right to make network namespaces. */
export const missingNat = (): string | undefined => {
  const missing = missingPeer('ip') ?? missingPeer('nft')
  if (missing !== undefined) return missing
  const name = `outdial-probe-${process.pid}`
  try {
    execFileSync('ip', ['netns', 'add', name], { stdio: 'ignore' })
    execFileSync('ip', ['netns', 'del', name], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'network namespaces cannot be made here (they need root)'
  }
}

let count = 0

/** Makes the network; it goes with the test. */
export const openNat = (context: TestContext, { bindingSeconds = 60 }: NatOptions): NatNetwork => {
  // 198.18.0.0/15 is for measuring networks (RFC 2544): four addresses of it for each of our processes.
  const number = (process.pid * 4 + (count += 1)) & 0x3fff
  const four = (last: number): string => `198.18.${number >> 6}.${((number & 0x3f) << 2) + last}`
  const [publicAddress, natAddress, privateAddress] = [four(1), four(2), '10.217.0.2']
  const names = { inside: `outdial-in-${number}`, nat: `outdial-nat-${number}` }
  const link = `od${number}`
  const run = (line: string): void => {
    execFileSync('ip', line.split(' '), { stdio: ['ignore', 'ignore', 'pipe'] })
  }
  const inNat = (line: string): void => run(`netns exec ${names.nat} ${line}`)
  context.after(() => {
    for (const name of Object.values(names)) run(`netns del ${name}`)
  })
  for (const name of Object.values(names)) run(`netns add ${name}`)
  run(`link add ${link} type veth peer name wan netns ${names.nat}`)
  run(`-n ${names.nat} link add lan type veth peer name lan netns ${names.inside}`)
  run(`addr add ${publicAddress}/30 dev ${link}`)
  run(`link set ${link} up`)
  for (const [name, device, address] of [
    [names.nat, 'wan', `${natAddress}/30`],
    [names.nat, 'lan', '10.217.0.1/24'],
    [names.inside, 'lan', `${privateAddress}/24`],
  ] as const) {
    run(`-n ${name} addr add ${address} dev ${device}`)
    run(`-n ${name} link set ${device} up`)
    run(`-n ${name} link set lo up`)
  }
  run(`-n ${names.inside} route add default via 10.217.0.1`)
  inNat('sysctl -qw net.ipv4.ip_forward=1')
  inNat('nft add table ip nat')
  inNat('nft add chain ip nat out { type nat hook postrouting priority 100 ; }')
  const masquerade = (ports: string): void =>
    inNat(`nft add rule ip nat out oifname wan ip protocol udp masquerade to ${ports}`)
  masquerade(':30000-39999')
  for (const kind of ['udp_timeout', 'udp_timeout_stream'])
    inNat(`sysctl -qw net.netfilter.nf_conntrack_${kind}=${bindingSeconds}`)
  return {
    publicAddress,
    natAddress,
    privateAddress,
    startEnd: (where) => startEnd(context, names[where]),
    rebind: () => {
      run(`-n ${names.nat} link set wan down`)
      inNat('nft flush chain ip nat out')
      masquerade(':40000-49999')
      run(`-n ${names.nat} link set wan up`)
    },
  }
}

const startEnd = (context: TestContext, namespace: string): NatEnd => {
  const script = join(import.meta.dirname, 'nat-end.ts')
  const child = spawn('ip', ['netns', 'exec', namespace, process.execPath, script], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  context.after(() => stop(child))
  return {
    ask: async <T>(order: Readonly<Record<string, unknown>>) => {
      child.send(order)
      const [result] = (await Promise.race([
        once(child, 'message'),
        once(child, 'exit').then(() => {
          throw new Error('the end behind the NAT has ended')
        }),
      ])) as [T]
      return result
    },
  }
}

const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
