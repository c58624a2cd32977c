/** Completion in `sweep`, from the declarations of its keys and of those that it tries. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withDefaults } from "../../../server/config/stages.ts";
import { mapNode, startOfFile } from "../../../server/config/text/node.ts";
import { completionsAt } from "../../../server/language/completion/completion.ts";
import { cursor } from "../../support/lspServer.ts";

const merged = withDefaults(
  mapNode({ file: "a.gradus.yaml", folder: "", range: startOfFile, via: [], layer: "default" }, []),
);

function labels(marked: string): readonly string[] {
  const { text, position } = cursor(marked);
  const client = { snippets: true, suggest: true, described: true };
  return completionsAt({ text, position, merged, file: "/tmp/a.gradus.yaml", client }).items.map(
    ({ label }) => label,
  );
}

describe("completion in a sweep", () => {
  it("offers its keys, those of a parameter, and their words", () => {
    assert.deepEqual(
      ["method", "parameters", "trials", "seeds", "metric", "stop"].filter(
        (key) => !labels("sweep:\n  |\n").includes(key),
      ),
      [],
    );
    const below = "sweep:\n  parameters:\n    update.optimizer.lr:\n      ";
    assert.deepEqual(
      ["values", "min", "max", "scale", "step"].filter((key) => !labels(`${below}|\n`).includes(key)),
      [],
    );
    assert.ok(labels(`${below}scale: |\n`).includes("log"));
    assert.ok(labels("sweep:\n  method: |\n").includes("random"));
    assert.ok(labels("sweep:\n  metric: |\n").includes("eval/pass@1"));
    assert.ok(labels("sweep:\n  stop: |\n").includes("median"));
  });

  it("offers keys of the config as parameters", () => {
    const offered = labels("sweep:\n  parameters:\n    |\n");
    for (const key of ["update.optimizer.lr", "rollout.temperature"]) assert.ok(offered.includes(key), key);
    assert.ok(!offered.some((key) => key.startsWith("evaluation.")));
  });
});
