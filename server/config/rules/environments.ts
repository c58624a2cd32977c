import { UserError } from "../../../shared/errors.ts";
import { createMethod } from "../create.ts";
import { keyedRandom } from "../keyedRandom.ts";
import type { TaskConfig } from "../resolved.ts";
import { at as nodeAt, mine, underneath, type Rule } from "./rule.ts";

/** What a built-in environment is asked about itself: our own code, run on the config's parameters. */
export type Environment =
  | {
      readonly kind: "made";
      readonly values: readonly string[];
      /** Characters. */ readonly longestPrompt: number;
    }
  | { readonly kind: "refused"; readonly message: string }
  /** A dataset: its lines are read when the run starts. */
  | { readonly kind: "unread" };

const draws = 32;
const known = new Map<string, Environment>();

export function environmentOf({ name, source }: TaskConfig): Environment {
  if (source.declaration.name === "dataset") return { kind: "unread" };
  const key = JSON.stringify([source.declaration.name, source.params]);
  const found = known.get(key) ?? ask({ name, source });
  known.set(key, found);
  return found;
}

function ask({ name, source }: Pick<TaskConfig, "name" | "source">): Environment {
  try {
    const random = keyedRandom("a config's environment");
    const tasks = createMethod(source, { random, max_tokens: 1, group: 1, name });
    const lengths = Array.from(
      { length: draws },
      (_, i) => tasks.draw("train", undefined, random.fork(i))?.prompt.length ?? 0,
    );
    return { kind: "made", values: tasks.values, longestPrompt: Math.max(...lengths) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { action } = error.detail;
    return {
      kind: "refused",
      message: action === undefined ? `${error.message}.` : `${error.message}. ${action}`,
    };
  }
}

/** Parameters that are each allowed and together make no task. */
export const environment: Rule = {
  id: "environment",
  check({ stages, file, root, report }) {
    for (const view of stages) {
      const list = nodeAt(view.body, "tasks");
      for (const [index, task] of view.config.body.tasks.entries()) {
        const found = environmentOf(task);
        if (found.kind !== "refused") continue;
        const item = list?.kind === "list" ? list.items[index] : undefined;
        const at = mine(file, nodeAt(item, "env")?.origin, item?.origin) ?? root.origin;
        report({
          rule: environment.id,
          message: found.message,
          key: underneath(view, at, `tasks.${task.name}`),
          at,
        });
      }
    }
  },
};
