import { existsSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { at as nodeAt, mine, placeOf, underneath, type Rule, type StageView } from "./rule.ts";
import type { ReplayConfig } from "../resolved.ts";

/** Files that replay and auxiliary losses name exist. */
export const replayFile: Rule = {
  id: "replay-file",
  check({ stages, file, root, report }) {
    for (const view of stages) {
      const { replay, auxiliary } = view.config.body;
      const named = [
        { choice: replay.source, path: ["replay"] },
        ...auxiliary.map(({ loss }, i) => ({ choice: loss, path: ["auxiliary", String(i)] })),
      ];
      for (const { choice, path } of named) {
        const { path: written } = choice.params;
        if (typeof written !== "string") continue;
        const absolute = resolve(choice.folder, written);
        if (existsSync(absolute)) continue;
        const at = mine(file, placeIn(view, path, "path")) ?? root.origin;
        report({
          rule: replayFile.id,
          message: `There is no file \`${relative(dirname(file), absolute)}\`: a path is relative to the file that writes it.`,
          key: underneath(view, at, `${path.join(".")}.path`),
          at,
        });
      }
    }
  },
};

function placeIn({ body }: StageView, path: readonly string[], key: string): ReturnType<typeof placeOf> {
  const [block, index] = path;
  const node = nodeAt(body, block!);
  const item = index === undefined ? node : node?.kind === "list" ? node.items[Number(index)] : undefined;
  return placeOf(item, key) ?? item?.origin;
}

/** What of a replay block has no effect, or contradicts itself. */
function problemOf({
  source,
  admission,
  select,
  draw,
}: ReplayConfig):
  { readonly key: string; readonly message: string; readonly severity: "warning" | "error" } | undefined {
  const [kind, kept] = [source.declaration.name, admission.declaration.name];
  if (kept === "leftovers" && select.declaration.name === "all" && kind === "window")
    return {
      key: "admission",
      severity: "error",
      message:
        "`replay.admission: leftovers` keeps what `replay.select` leaves out, and `select: all` leaves nothing out: choose a selection.",
    };
  if (kind === "window" && source.params["burst"] === true && draw.declaration.name !== "uniform")
    return {
      key: "draw",
      severity: "warning",
      message: "With `burst` everything that is kept is replayed at once: `replay.draw` is not read.",
    };
  return undefined;
}

export const replayBlock: Rule = {
  id: "replay",
  check({ stages, file, root, report }) {
    for (const view of stages) {
      if (view.config.kind !== "rl") continue;
      const problem = problemOf(view.config.body.replay);
      if (problem === undefined) continue;
      const { key, message, severity } = problem;
      const at =
        mine(
          file,
          placeOf(view.body, "replay", key, "use"),
          placeOf(view.body, "replay", key),
          placeOf(view.body, "replay"),
        ) ?? root.origin;
      report({ rule: replayBlock.id, severity, message, key: underneath(view, at, `replay.${key}`), at });
    }
  },
};

/** Keys of an auxiliary loss that its other keys keep from being read. */
export const auxiliaryBlock: Rule = {
  id: "auxiliary",
  check({ stages, file, root, report }) {
    for (const view of stages) {
      const list = nodeAt(view.body, "auxiliary");
      view.config.body.auxiliary.forEach(({ place, optimizer, when, loss }, index) => {
        const item = list?.kind === "list" ? list.items[index] : undefined;
        const say = (key: string, message: string): void => {
          const at = mine(file, placeOf(item, key), item?.origin) ?? root.origin;
          report({
            rule: auxiliaryBlock.id,
            message,
            key: underneath(view, at, `auxiliary.${index}.${key}`),
            at,
          });
        };
        if (optimizer !== undefined && place === "joined")
          say(
            "optimizer",
            "A joined loss is part of the policy's optimiser steps: `optimizer` needs `place: alone`.",
          );
        if (when !== "always" && when.all_failed !== undefined && loss.params["data"] !== "solutions")
          say(
            "when",
            "`all_failed` waits for tasks whose solutions are then learned: it needs `use: sft` with `data: solutions`.",
          );
      });
    }
  },
};
