import { isReadable, sibling, unusable } from "../nearFile.ts";
import { resolve } from "node:path";
import type { StageView } from "../../config/check/model.ts";
import { at as nodeAt, eachStage, mine, placeOf, type Rule, underneath } from "../rule.ts";

/** Files that replay and auxiliary losses name exist. */
export const replayFile: Rule = {
  id: "replay-file",
  title: "Missing file of recorded rollouts",
  why: "`replay.path` and `auxiliary[].path` name a file of rollouts or demonstrations. A path is relative to the folder of the file that contains it.",
  check: eachStage((view, { file, root, report }) => {
    const { replay, auxiliary } = view.config.body;
    const named = [
      { choice: replay.source, path: ["replay"] },
      ...auxiliary.map(({ loss }, i) => ({ choice: loss, path: ["auxiliary", String(i)] })),
    ];
    for (const { choice, path } of named) {
      const { path: written } = choice.params;
      if (typeof written !== "string") continue;
      const absolute = resolve(choice.folder, written);
      // Others may write it later.
      if (isReadable(absolute) || (choice === replay.source && choice.declaration.name === "shared_log"))
        continue;
      const at = mine(file, placeIn(view, path, "path")) ?? root.origin;
      const { hint, fixes } = sibling(absolute, at);
      report({
        rule: replayFile.id,
        message: `${unusable(absolute, file)}.${hint}`,
        key: underneath(view, at, `${path.join(".")}.path`),
        at,
        fixes,
      });
    }
  }),
};

function placeIn({ body }: StageView, path: readonly string[], key: string): ReturnType<typeof placeOf> {
  const [block, index] = path;
  const node = nodeAt(body, block!);
  const item = index === undefined ? node : node?.kind === "list" ? node.items[Number(index)] : undefined;
  return placeOf(item, key) ?? item?.origin;
}
