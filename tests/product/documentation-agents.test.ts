// Runs beside others: it waits for most of its 72 s.
import { describeReading, documentParts } from '../support/document-reading.ts'

describeReading(documentParts.agents)
