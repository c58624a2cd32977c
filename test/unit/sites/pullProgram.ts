/** A program that pulls once, and says when it begins: to be killed. */
import { join } from "node:path";
import { build } from "esbuild";

export async function pullProgram(out: string): Promise<void> {
  const source = join(process.cwd(), "server/sites");
  await build({
    stdin: {
      contents: `import { here } from ${JSON.stringify(join(source, "here.ts"))};
import { Mirror } from ${JSON.stringify(join(source, "mirror.ts"))};
const [, , folder, root] = process.argv;
console.log("begins");
await new Mirror(here(), folder, root).pull();`,
      resolveDir: process.cwd(),
      loader: "ts",
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: out,
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
}
