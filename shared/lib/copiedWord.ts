import { shellQuoted } from "./shellQuoted.ts";

/**
 * A path or a name in a command that a person copies into a shell: quoted where the shell would read it as anything else. On Windows
 * by double quotes, which PowerShell and the old command prompt both take; to them a backslash is a letter.
 */
export function copiedWord(word: string, platform = process.platform): string {
  if (/^[\w./:=,@+-]+$/.test(word)) return word;
  if (platform !== "win32" || /["$`%]/.test(word)) return shellQuoted(word);
  return /^[\w./\\:=,@+-]+$/.test(word) ? word : `"${word}"`;
}
