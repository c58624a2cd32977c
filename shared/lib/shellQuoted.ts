/** A text as one word of a POSIX shell, whatever it holds: in single quotes, so nothing in it is expanded. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
