import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Files that a program loads as it starts, itself among them, as the loader names them. */
export async function loadedBy(program: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)("ldd", [program]);
  const libraries = [...stdout.matchAll(/(?:=> |^\s*)(\/\S+)/gm)].map((match) => match[1]!);
  return [program, ...libraries];
}
