import { basename } from "node:path";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { plural } from "../../../shared/lib/format.ts";
import type { RewardTermConfig, TaskConfig } from "../../core/config/resolved.ts";
import { linesOfTask } from "../../core/datasetLines.ts";
import { ownProcessAdvice, ownProcessTests as testsIn } from "../../methods/reward/code/ownProcess.ts";
import { unitTests } from "../../methods/reward/code/unitTests.ts";
import { appliesTo } from "../ranges.ts";
import { eachRlStage, firstTime, reportAt, type Rule } from "../rule.ts";

interface Found {
  /** Of so many rows that were read. */
  readonly of: number;
  readonly rows: number;
  /** Of the first. */
  readonly file: string;
  readonly line: number;
  readonly why: string;
}

function foundIn({ term }: RewardTermConfig, { source }: TaskConfig): Found | undefined {
  const rows = (linesOfTask(source) ?? []).flatMap(({ row, ...place }) =>
    row === undefined ? [] : [{ ...place, data: row as JsonObject }],
  );
  const params = unitTests.params.parse(term.params);
  const found = rows.flatMap(({ file, line, data }) =>
    testsIn({ id: "", data }, params)
      .slice(0, 1)
      .map(({ why }) => ({ file, line, why })),
  );
  return found[0] && { of: rows.length, rows: found.length, ...found[0] };
}

/** Tests can be run where the program never was. */
export const ownProcessTests: Rule = {
  id: "own-process-tests",
  title: "Tests that the program's own process has to run",
  why: "`unit_tests` runs assert lines and test code in a process of its own, in which the program never was: what it compares are copies of what the program returned. A test that gives the program a function or an object of its own, or looks inside it (`sys.stdout`, `inspect`, `mock`, `await`), cannot be run from there. It runs in the program's own process, where a policy can learn to fool it: by an `__eq__` that is always true, or by another `assert`. The criterion of such a test says so, and the component `own_process` counts them.\n\nWrite such a test as a call and its output (`fn_name`, `inputs`, `outputs`), or define the function that it gives in the field `test_setup_code`: what is defined there lives with the program, and the test asks for it by its name. This rule reads the first lines of the file; `gradus reward FILE --gold` tries all of them.",
  check: eachRlStage((view, model) => {
    const fresh = firstTime();
    const { tasks, reward } = view.config.body;
    for (const term of reward.terms) {
      if (term.term.declaration !== unitTests || !fresh(term.term)) continue;
      const found = tasks
        .filter(({ name }) => appliesTo(term, name))
        .flatMap((task) => foundIn(term, task) ?? []);
      const [first] = found;
      if (first === undefined) continue;
      const path = ["reward", "terms", term.name];
      reportAt(model, view, ownProcessTests, [[...path, "use"], path], {
        severity: "info",
        message: `${first.rows} of the first ${plural(first.of, "line")} of \`${basename(first.file)}\` ${first.rows === 1 ? "has" : "have"} tests that run in the program's own process, which a policy may fool. A test of line ${first.line + 1} ${first.why}. ${ownProcessAdvice}`,
      });
    }
  }),
};
