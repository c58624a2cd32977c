// Packages that a package of ours brings along, each as one file: server/lib/carried.ts unpacks them at their first use.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { readZip, storedZip } from "./zip.mjs";

/** Which files of which package. */
export const carried = {
  // Its code is in the bundle.
  "@tensorflow/tfjs-backend-wasm": ["package.json", "dist/tfjs-backend-wasm-simd.wasm"],
  "node-sqlite3-wasm": ["package.json", "LICENSE", "dist"],
  "esbuild-wasm": [
    "package.json",
    "LICENSE.md",
    "lib/main.js",
    "bin/esbuild",
    "esbuild.wasm",
    "wasm_exec.js",
    "wasm_exec_node.js",
  ],
  pyodide: [
    "package.json",
    "pyodide.js",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "pyodide-lock.json",
    "python_stdlib.zip",
  ],
  "@jitl/quickjs-ng-wasmfile-release-sync": ["package.json", "LICENSE", "dist/emscripten-module.wasm"],
};

const filesIn = (folder, path) =>
  statSync(join(folder, path)).isDirectory()
    ? readdirSync(join(folder, path))
        .sort()
        .flatMap((name) => filesIn(folder, `${path}/${name}`))
    : [path];

/** A zip inside is stored, not compressed, so that the whole compresses as one. */
const bytesOf = async (path) => (path.endsWith(".zip") ? storedZip(await readZip(path)) : readFileSync(path));

async function archive(folder, paths) {
  const files = await Promise.all(
    paths
      .flatMap((path) => filesIn(folder, path))
      .map(async (path) => ({ path, bytes: await bytesOf(join(folder, path)) })),
  );
  const list = files.map(({ path, bytes }) => ({ path, bytes: bytes.length }));
  return Buffer.concat([Buffer.from(`${JSON.stringify(list)}\n`), ...files.map(({ bytes }) => bytes)]);
}

/** It takes a minute or two, so what was compressed before is kept. */
async function compressed(bytes, cache) {
  if (existsSync(cache)) return readFileSync(cache);
  const small = await promisify(brotliCompress)(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
  mkdirSync(dirname(cache), { recursive: true });
  writeFileSync(cache, small);
  return small;
}

/** Compresses a file of a bundle in its place. */
export async function compressIn(file, cache) {
  const bytes = readFileSync(file);
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  writeFileSync(`${file}.br`, await compressed(bytes, join(cache, `${basename(file)}-${hash}.br`)));
  rmSync(file);
}

/** Writes `NAME-VERSION-HASH.br` for each into `out`. `modules`: the folder node_modules; `cache`: a folder. */
export async function carry({ modules, out, cache }) {
  mkdirSync(out, { recursive: true });
  await Promise.all(
    Object.entries(carried).map(async ([name, paths]) => {
      const folder = join(modules, name);
      const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const bytes = await archive(folder, paths);
      const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
      const file = `${name.replace("/", "+")}-${version}-${hash}.br`;
      writeFileSync(join(out, file), await compressed(bytes, join(cache, file)));
    }),
  );
}
