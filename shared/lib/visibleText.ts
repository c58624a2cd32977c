/**
 * Text of models, tasks and errors as it may be shown: a control character in it could move the cursor, recolour or hide
 * lines of a terminal, and a bidi override could turn the order of what is read. They are shown, never sent.
 */

/** C0 but tab and line feed, DEL, C1; bidi marks, embeddings, overrides and isolates; line separators; other format controls;
 * tag characters but those of a flag, and a selector of a variation after another one: both carry text that nobody sees. */
const unsafe =
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200e\u200f\u2028-\u202e\u2060-\u206f\ufff9-\ufffb]|\p{Surrogate}|(?<!\u{1f3f4}[\u{e0030}-\u{e007f}]{0,6})[\u{e0000}-\u{e007f}]|(?<=[\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;

/** `␛` for a C0 control and DEL, `\u{202e}` for the others. */
function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? "␡" : `\\u{${code.toString(16)}}`;
}

/** JSON of the same meaning in which each of them is written as `\\u` and four digits: for a person who reads it, too. */
export const visibleJson = (value: unknown): string =>
  JSON.stringify(value).replace(unsafe, (characters) =>
    Array.from(
      { length: characters.length },
      (_, at) => `\\u${characters.charCodeAt(at).toString(16).padStart(4, "0")}`,
    ).join(""),
  );

/** With line feeds and tabs as they are. */
export const visibleText = (text: string): string => text.replace(unsafe, escaped);

/** In one line: line feeds and tabs are shown, too. */
export const visibleLine = (text: string): string =>
  visibleText(text).replaceAll("\n", "⏎").replaceAll("\t", "␉");

/** As plain text in Markdown: neither markup, nor a link, an image, HTML, an icon or a line of its own. */
export const plainMarkdown = (text: string): string =>
  visibleLine(text)
    .replace(/[\\`*_{}[\]()#+\-.!|<>~$&:@=^]/g, "\\$&")
    .replace(/ {2,}/g, " ");
