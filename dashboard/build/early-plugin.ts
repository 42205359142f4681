import type { Plugin } from 'vite'

const source = 'src/early.ts'

/** Names the early program first in the page: the browser runs it while it still loads the application. */
export const earlyProgram = (root: string): Plugin => {
  let reference: string | undefined
  return {
    name: 'early-program',
    buildStart() {
      reference = this.emitFile({ type: 'chunk', id: `${root}/${source}`, name: 'early' })
    },
    transformIndexHtml: {
      order: 'post',
      handler: (_, { bundle }) => {
        const early = Object.values(bundle ?? {}).find(
          (each) => each.type === 'chunk' && each.facadeModuleId?.endsWith(source),
        )
        if (reference === undefined || !early) throw new Error('The early program was not built.')
        const attrs = { type: 'module', async: true, src: `/${early.fileName}` }
        return [{ tag: 'script', attrs, injectTo: 'head-prepend' }]
      },
    },
  }
}
