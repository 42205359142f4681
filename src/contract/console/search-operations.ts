import { op } from '../define-operation.ts'
import { reads } from './least-role.ts'
import { searchQuestion, searchResult } from './search.ts'

export const searchOperations = {
  search: op('GET /console/search', {
    ...reads('viewer'),
    query: searchQuestion,
    response: searchResult,
  }),
} as const
