import { needs } from "../config/needs.ts";
import { basename } from "node:path";
import { Document, isMap, isScalar, isSeq, type Node } from "yaml";
import { loadFile } from "../frameworks/use/asConfig/load.ts";
import type { ValueOrigin } from "../rules/load.ts";
import { complain, exit, printExactly, printJson, type Command } from "./command.ts";
import { refuseNoConfig, sayConverted } from "./loadOrComplain.ts";
import { collect, complainAbout } from "./text/diagnostics.ts";
import { whole } from "./options.ts";

interface Options {
  readonly json?: boolean;
  readonly set: string[];
  readonly steps?: number;
  readonly seed?: number;
}

export const command: Command = {
  name: "resolve",
  configure: (program) => {
    program
      .argument("<file>", "the config, or a verl, TRL or OpenRLHF one")
      .option("--set <path=value>", "override a value of the config", collect, [])
      .option("--steps <n>", "run at most this many rl steps", whole(1))
      .option("--seed <n>", "the seed", whole())
      .option("--json", "one JSON value: config and origins")
      .action((file: string, { json, set, steps, seed }: Options) => {
        const options = {
          set,
          ...(steps === undefined ? {} : { steps }),
          ...(seed === undefined ? {} : { seed }),
        };
        const { tree, origins, diagnostics, converted } = loadFile(file, options, {
          needs: needs.written,
        });
        refuseNoConfig(file, { diagnostics });
        sayConverted(file, converted);
        if (complainAbout(diagnostics)) {
          // Another trainer's config has been named as such: there is nothing to fix.
          if (!diagnostics.some(({ rule }) => rule === "not-yet"))
            complain(`${file}: a config with errors cannot be resolved: fix the errors listed above.`);
          process.exitCode = exit.failed;
          return;
        }
        if (json === true) printJson({ config: tree, origins });
        else printExactly(annotated(tree, origins));
      });
  },
};

/** YAML with a comment at the end of each line: who wrote the value. */
function annotated(tree: unknown, origins: Readonly<Record<string, ValueOrigin>>): string {
  const document = new Document(tree);
  if (document.contents !== null) comment(document.contents, "", origins);
  return document.toString({ lineWidth: 0, flowCollectionPadding: true }).trimEnd();
}

function comment(node: unknown, path: string, origins: Readonly<Record<string, ValueOrigin>>): void {
  if (isMap(node)) {
    for (const { key, value } of node.items)
      comment(value, path === "" ? String(key) : `${path}.${String(key)}`, origins);
  } else if (isSeq(node)) {
    if (node.items.every((item) => isScalar(item))) {
      node.flow = true;
      label(node, origins[path]);
    } else
      for (const [index, item] of node.items.entries())
        comment(item, `${path}.${nameOf(item) ?? index}`, origins);
  } else if (isScalar(node)) label(node, origins[path]);
}

const nameOf = (item: unknown): string | undefined => {
  const name = isMap(item) ? item.get("name") : undefined;
  return typeof name === "string" ? name : undefined;
};

function label(node: Node, origin: ValueOrigin | undefined): void {
  if (origin === undefined) return;
  const via = origin.via.length === 0 ? "" : ` via ${origin.via.join(" → ")}`;
  node.comment = origin.line === 0 ? ` ${origin.file}` : ` ${basename(origin.file)}:${origin.line}${via}`;
}
