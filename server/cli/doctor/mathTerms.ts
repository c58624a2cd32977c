/** Who judges answers of mathematics: whether the package math-verify is where the term `math` looks for it. */
import { needs } from "../../config/needs.ts";
import { resolve } from "node:path";
import { z } from "zod";
import { loadFile } from "../../frameworks/use/asConfig/load.ts";
import { pythonWithMathVerify } from "../../methods/reward/maths/math.ts";
import { unseen, type Check } from "./checks.ts";

const paramsSchema = z.object({
  by: z.enum(["auto", "math_verify", "compute_engine"]).default("auto"),
  python: z.string().optional(),
});
interface Asked extends z.output<typeof paramsSchema> {
  readonly name: string;
  readonly folder: string;
}

/** The terms `math` of a config, each once; without a config, what one in this folder would find. */
export function checkMathTerms(file: string | undefined, folder: string): Promise<Check[]> {
  if (file === undefined) return Promise.all([checkTerm({ name: "math-verify", by: "auto", folder })]);
  const { config } = loadFile(resolve(file), { needs: needs.scored });
  const terms = (config?.stages ?? []).flatMap(({ body }) => body.reward.terms);
  const own = new Map(
    terms.flatMap(({ name, term }) =>
      term.declaration.name === "math"
        ? [[name, { name: `reward ${name}`, ...paramsSchema.parse(term.params), folder: term.folder }]]
        : [],
    ),
  );
  return Promise.all([...own.values()].map(checkTerm));
}

const carried = "the engine that comes with Gradus judges answers of mathematics (`math`)";

async function checkTerm({ name, by, python, folder }: Asked): Promise<Check> {
  if (by === "compute_engine") return { name, status: "ok", detail: carried };
  try {
    const path = await pythonWithMathVerify({ python }, folder);
    if (path !== undefined)
      return {
        name,
        status: "ok",
        detail: `math-verify of ${path} judges answers of mathematics (\`math\`)`,
      };
    const fix = 'pip install "math-verify[antlr4_13_2]"';
    return by === "auto"
      ? { name, status: "optional", detail: `no Python here has math-verify; ${carried}`, fix }
      : { name, status: "missing", detail: "`by: math_verify`, and no Python here has it", fix };
  } catch (error) {
    return unseen(name, error);
  }
}
