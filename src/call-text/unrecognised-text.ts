/** The text of a turn in which an engine heard speech it could put into no words. */
export const unrecognisedText = '[unrecognised]'
