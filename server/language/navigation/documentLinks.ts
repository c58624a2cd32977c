/** What an editor underlines: the files a config names, and the pages of rules that a comment speaks of. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { DocumentLink } from "vscode-languageserver";
import type { SourceNode } from "../../config/text/node.ts";
import { pagesFolder } from "../../config/text/rulePages.ts";
import type { ConfigFile } from "../names/configFiles.ts";
import { fileLinks } from "./fileLinks.ts";

export function documentLinks({ root, file, text }: ConfigFile, merged: SourceNode): DocumentLink[] {
  const files = fileLinks(root, file, merged).map(({ range, file: target, tooltip }) => ({
    range,
    target: pathToFileURL(target).href,
    tooltip,
  }));
  return [...files, ...rulePages(text)];
}

/** `# gradus-disable mini-batch, unused-term`: each rule with a page. */
function rulePages(text: string): DocumentLink[] {
  const pages = join(pagesFolder(), "rules");
  if (!text.includes("gradus-disable") || !existsSync(pages)) return [];
  return text.split(/\r?\n/).flatMap((line, index) => {
    const comment = /#\s*gradus-disable[\w-]*[\s:]+(.*)$/d.exec(line);
    const [from] = comment?.indices?.[1] ?? [];
    if (from === undefined) return [];
    return [...line.slice(from).matchAll(/[\w-]+/g)].flatMap((match): DocumentLink[] => {
      const page = join(pages, `${match[0]}.md`);
      const start = { line: index, character: from + match.index };
      if (!existsSync(page)) return [];
      return [
        {
          range: { start, end: { line: index, character: start.character + match[0].length } },
          target: pathToFileURL(page).href,
          tooltip: `About the rule ${match[0]}`,
        },
      ];
    });
  });
}
