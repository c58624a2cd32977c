import { dirname } from "node:path";
import { shownPath } from "../../lib/texts/shownPath.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { readUnsolved } from "../../algorithm/curriculum/evaluationTasks.ts";
import { replace } from "../../config/check/report.ts";
import { isReadable, sibling } from "../nearFile.ts";
import { at as nodeAt, mine, type Rule } from "../rule.ts";

/** The list of unsolved tasks exists, and is one. */
export const unsolvedList: Rule = {
  id: "unsolved-list",
  title: "Missing list of unsolved tasks",
  why: "`evaluation.unsolved_by` names a list of held-out tasks, which `gradus evaluate CHECKPOINT FILE --unsolved LIST.json` writes. Without it there would be nothing to evaluate on, and the run would stop before its first step.",
  check({ config, file, root, report }) {
    const { unsolved_by: list } = config.evaluation;
    if (list === undefined) return;
    const problem = problemOf(list, file);
    if (problem === undefined) return;
    const at = mine(file, nodeAt(root, "evaluation", "unsolved_by")?.origin) ?? root.origin;
    const { hint, fixes } = sibling(list, at);
    report({
      rule: unsolvedList.id,
      severity: "error",
      message: `${problem}: write it with \`gradus evaluate CHECKPOINT FILE --unsolved LIST.json\`.${hint}`,
      key: "evaluation.unsolved_by",
      at,
      fixes: [
        ...fixes,
        replace(at.range, "nobody", "Change to `nobody`: all held-out tasks are asked", false),
      ],
    });
  },
};

function problemOf(list: string, file: string): string | undefined {
  if (!isReadable(list)) return `There is no list at \`${shownPath(dirname(file), list)}\``;
  try {
    readUnsolved(list);
    return undefined;
  } catch (error) {
    if (error instanceof UserError) return error.message.replace(/\.$/, "");
    throw error;
  }
}
