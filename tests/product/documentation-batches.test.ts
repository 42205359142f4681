// Runs beside others: it waits for most of its 44 s.
import { describeReading, documentParts } from '../support/document-reading.ts'

describeReading(documentParts.batches)
