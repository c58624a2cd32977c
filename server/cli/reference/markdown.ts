/** Pieces of Markdown. */

/** Prose in which an angle bracket stays one: outside code spans it would begin a tag. */
export const prose = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll("<", "&lt;")))
    .join("");

/** Fit for a cell of a table: a bar or a line's end would end the cell. */
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** A code span of any text, backticks included. */
export function code(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return longest === 0 ? `\`${text}\`` : `${fence} ${text} ${fence}`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((text) => cell(prose(text))).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

/** Paragraphs with an empty line between them, and what keeps people from editing the page. */
export const page = (paragraphs: readonly (string | undefined)[]): string =>
  `${["<!-- Generated: change the declarations, then `npm run build`. -->", ...paragraphs]
    .filter((paragraph) => paragraph !== undefined)
    .join("\n\n")}\n`;
