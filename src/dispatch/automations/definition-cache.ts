import type { Queryable } from '../../database/database.ts'
import { findVersion } from '../../domains/automations/automation-store.ts'
import { readDefinition, type AutomationDefinition } from '../../domains/automations/definition.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { BoundedMap } from '../../runtime/bounded-map.ts'

/** Cached definitions: a version never changes, so none is ever stale. At most 64 KiB each. */
const maxDefinitions = 200

export interface DefinitionCache {
  /** Undefined: there is no such version, or this program cannot read it. */
  find(
    db: Queryable,
    organizationId: OrganizationId,
    automationId: string,
    version: number,
  ): Promise<AutomationDefinition | undefined>
}

export const createDefinitionCache = (): DefinitionCache => {
  const known = new BoundedMap<string, AutomationDefinition>({ maxSize: maxDefinitions })
  return {
    async find(db, organizationId, automationId, version) {
      const key = `${automationId}/${version}`
      const kept = known.get(key)
      if (kept) return kept
      const definition = readDefinition(
        await findVersion(db, organizationId, automationId, version),
      )
      // Unreadable versions are not cached, because the next release may be able to read them.
      if (!definition) return undefined
      known.set(key, definition)
      return definition
    },
  }
}
