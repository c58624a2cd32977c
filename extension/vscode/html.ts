/** The page that a webview starts from: a policy without `unsafe-*`, one style, one script. Pure, so that tests serve the same. */

interface PageParts {
  readonly title: string;
  /** Fresh for every page. */
  readonly nonce: string;
  /** What the editor calls the origin of local resources. */
  readonly source: string;
  readonly script: string;
  readonly style: string;
}

export const contentSecurityPolicy = ({ nonce, source }: Pick<PageParts, "nonce" | "source">): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${source}`,
    `img-src ${source} data:`,
    `font-src ${source}`,
  ].join("; ");

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => escapes[character] ?? character);

export function page(parts: PageParts): string {
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${escaped(contentSecurityPolicy(parts)).replaceAll("&#39;", "'")}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escaped(parts.title)}</title>
    <link rel="stylesheet" href="${escaped(parts.style)}" />
  </head>
  <body>
    <div id="root"></div>
    <script nonce="${escaped(parts.nonce)}" src="${escaped(parts.script)}"></script>
  </body>
</html>`;
}
