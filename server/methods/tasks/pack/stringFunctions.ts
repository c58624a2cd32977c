/** Functions of strings whose names say nothing: what a policy must have learned to apply them. */

export interface StringFunction {
  /** As Python, where the definition is shown. */
  readonly body: string;
  readonly apply: (text: string) => string;
}

const vowels = "aeiou";
const letters = (text: string, map: (letter: string, at: number) => string): string =>
  [...text].map(map).join("");
const shifted = (letter: string, by: number): string =>
  letter >= "a" && letter <= "z" ? String.fromCharCode(((letter.charCodeAt(0) - 97 + by) % 26) + 97) : letter;

/** Closed on small letters, so that any may follow any. */
export const stringFunctions: readonly StringFunction[] = [
  { body: "s[::-1]", apply: (s) => [...s].reverse().join("") },
  { body: "s + s", apply: (s) => s + s },
  { body: "s[1:] + s[:1]", apply: (s) => s.slice(1) + s.slice(0, 1) },
  { body: "s[-1:] + s[:-1]", apply: (s) => s.slice(-1) + s.slice(0, -1) },
  { body: "s[::2]", apply: (s) => letters(s, (letter, at) => (at % 2 === 0 ? letter : "")) },
  { body: '"".join(sorted(s))', apply: (s) => [...s].sort().join("") },
  {
    body: '"".join(c for c in s if c not in "aeiou")',
    apply: (s) => letters(s, (c) => (vowels.includes(c) ? "" : c)),
  },
  { body: "s + s[::-1]", apply: (s) => s + [...s].reverse().join("") },
  { body: '"".join(c + c for c in s)', apply: (s) => letters(s, (letter) => letter + letter) },
  { body: 's + "x"', apply: (s) => `${s}x` },
  { body: '"q" + s', apply: (s) => `q${s}` },
  {
    body: '"".join(chr((ord(c) - 96) % 26 + 97) for c in s)',
    apply: (s) => letters(s, (c) => shifted(c, 1)),
  },
  {
    body: "s[len(s) // 2:] + s[:len(s) // 2]",
    apply: (s) => s.slice(s.length >> 1) + s.slice(0, s.length >> 1),
  },
  { body: '"".join(dict.fromkeys(s))', apply: (s) => [...new Set(s)].join("") },
  { body: "s[:-1]", apply: (s) => s.slice(0, -1) },
  { body: 's.replace("a", "o")', apply: (s) => s.replaceAll("a", "o") },
];
