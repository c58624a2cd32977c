import { shellQuoted } from "./shellQuoted.ts";

/** A path or a name in a command that a person copies into a shell: quoted where the shell would read it as anything else. */
export const copiedWord = (word: string): string => (/^[\w./:=,@+-]+$/.test(word) ? word : shellQuoted(word));
