// What no file of a package says: texts of licences that it leaves out, and works that are compiled into it.

/** Licences that a package may bring along; all of them ask for no more than their text, or where the source is. */
export const allowed = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "ISC",
  "MIT",
  "MPL-2.0",
  "PSF-2.0",
  "ZPL-2.1",
  "Zlib",
  "blessing",
  "bzip2-1.0.6",
]);

/** Packages that have no file with their licence: the line that goes above its standard text (licences/). */
const google = { licence: "Apache-2.0", copyright: "Copyright 2018-2024 Google LLC" };

export const unwritten = {
  "@arnog/colors": { licence: "MIT", copyright: "Copyright (c) Arno Gourdol" },
  "@cfworker/json-schema": { licence: "MIT", copyright: "Copyright (c) 2020 Jeremy Danyow" },
  "@tensorflow/tfjs-backend-cpu": google,
  "@tensorflow/tfjs-backend-wasm": google,
  "@tensorflow/tfjs-core": google,
  "ajv-formats": { licence: "MIT", copyright: "Copyright (c) 2020 Evgeny Poberezkin" },
  "content-type": { licence: "MIT", copyright: "Copyright (c) 2015 Douglas Christopher Wilson" },
  seedrandom: { licence: "MIT", copyright: "Copyright 2019 David Bau." },
  pyodide: {
    licence: "MPL-2.0",
    copyright: "Copyright (C) 2019-2022, Pyodide contributors and Mozilla",
    source: "https://github.com/pyodide/pyodide (the tag is the version); nothing of it is changed",
  },
};

const emscripten = [
  {
    name: "Emscripten",
    licence: "MIT",
    copyright: "Copyright (c) 2010-2014 Emscripten authors, see AUTHORS file.",
  },
  { name: "musl", licence: "MIT", copyright: "Copyright © 2005-2020 Rich Felker, et al." },
];

/**
 * What packages with compiled parts (WebAssembly, archives) hold of others. `version`: the one that was looked into;
 * the build stops at any other until it is looked into again.
 */
export const compiled = {
  "@tensorflow/tfjs-backend-wasm": {
    version: "4.22.0",
    works: [
      {
        name: "XNNPACK",
        licence: "BSD-3-Clause",
        copyright:
          "Copyright (c) Facebook, Inc. and its affiliates. All rights reserved.\nCopyright 2019 Google LLC",
      },
      ...["pthreadpool", "cpuinfo"].map((name) => ({
        name,
        licence: "BSD-2-Clause",
        copyright:
          "Copyright (c) 2019 Google LLC\nCopyright (c) 2017-2018 Facebook Inc.\nCopyright (c) 2015-2017 Georgia Institute of Technology",
      })),
      ...["FP16", "FXdiv"].map((name) => ({
        name,
        licence: "MIT",
        copyright:
          "Copyright (c) 2016-2017 Marat Dukhan\nCopyright (c) 2017 Facebook Inc.\nCopyright (c) 2017 Georgia Institute of Technology",
      })),
      ...emscripten,
    ],
  },
  pyodide: {
    version: "314.0.7",
    works: [
      {
        name: "CPython",
        licence: "PSF-2.0",
        copyright: "Copyright © 2001 Python Software Foundation; All Rights Reserved",
      },
      ...emscripten,
      { name: "bzip2", licence: "bzip2-1.0.6", copyright: "Copyright (C) 1996-2019 Julian R Seward" },
      {
        name: "error-stack-parser, stackframe",
        licence: "MIT",
        copyright: "Copyright (c) 2017 Eric Wendelin and other contributors",
      },
      {
        name: "Expat",
        licence: "MIT",
        copyright:
          "Copyright (c) 1998-2000 Thai Open Source Software Center Ltd and Clark Cooper\nCopyright (c) 2001-2025 Expat maintainers",
      },
      {
        name: "HACL*",
        licence: "MIT",
        copyright:
          "Copyright (c) 2016-2022 INRIA, CMU and Microsoft Corporation\nCopyright (c) 2022-2023 HACL* Contributors",
      },
      { name: "hiwire", licence: "MPL-2.0", copyright: "", source: "https://github.com/pyodide/hiwire" },
      {
        name: "libffi",
        licence: "MIT",
        copyright: "Copyright (c) 1996-2024 Anthony Green, Red Hat, Inc and others.",
      },
      { name: "liblzma", licence: "0BSD", copyright: "Copyright (C) The XZ Utils authors and contributors" },
      {
        name: "libmpdec",
        licence: "BSD-2-Clause",
        copyright: "Copyright (c) 2008-2024 Stefan Krah. All rights reserved.",
      },
      { name: "SQLite", licence: "blessing", copyright: "" },
      { name: "zlib", licence: "Zlib", copyright: "Copyright (C) 1995-2024 Jean-loup Gailly and Mark Adler" },
      {
        name: "Zstandard",
        licence: "BSD-3-Clause",
        copyright: "Copyright (c) Meta Platforms, Inc. and affiliates. All rights reserved.",
      },
    ],
  },
  "node-sqlite3-wasm": {
    version: "0.8.60",
    works: [{ name: "SQLite", licence: "blessing", copyright: "" }, ...emscripten],
  },
  "esbuild-wasm": {
    version: "0.28.2",
    works: [{ name: "Go", licence: "BSD-3-Clause", copyright: "Copyright 2009 The Go Authors." }],
  },
  // QuickJS itself is in the package's own licence.
  "@jitl/quickjs-ng-wasmfile-release-sync": { version: "0.32.0", works: emscripten },
  hysnappy: { version: "1.1.1", works: [] },
};

const huggingFace = "Copyright The HuggingFace Team. All rights reserved.";

/** What is in the package without a package of npm: keys, defaults and help texts of other trainers. */
export const tables = [
  { name: "AReaL", licence: "Apache-2.0", copyright: "Copyright 2025-2026 AReaL Team", file: "areal.json" },
  {
    name: "Axolotl",
    licence: "Apache-2.0",
    copyright: "Copyright The Axolotl contributors",
    file: "axolotl.json",
  },
  {
    name: "EasyR1",
    licence: "Apache-2.0",
    copyright: "Copyright 2024 Bytedance Ltd. and/or its affiliates",
    file: "easyr1.json",
  },
  {
    name: "LLaMA-Factory",
    licence: "Apache-2.0",
    copyright: "Copyright 2025 the LlamaFactory team.",
    file: "llama-factory.json",
  },
  {
    name: "Megatron-LM",
    licence: "BSD-3-Clause",
    copyright: "Copyright (c) 2019-2025, NVIDIA CORPORATION. All rights reserved.",
    file: "megatron-lm.json",
  },
  { name: "miles", licence: "Apache-2.0", copyright: "Copyright 2025 Zhipu AI", file: "miles.json" },
  {
    name: "ms-swift",
    licence: "Apache-2.0",
    copyright: "Copyright (c) ModelScope Contributors. All rights reserved.",
    file: "ms-swift.json",
  },
  {
    name: "NeMo RL",
    licence: "Apache-2.0",
    copyright: "Copyright (c) 2026, NVIDIA CORPORATION. All rights reserved.",
    file: "nemo-rl.json",
  },
  {
    name: "open-instruct",
    licence: "Apache-2.0",
    copyright: "Copyright 2024 AllenAI. All rights reserved.",
    file: "open-instruct.json",
  },
  {
    name: "OpenRLHF",
    licence: "Apache-2.0",
    copyright: "Copyright The OpenRLHF Team",
    file: "openrlhf.json",
  },
  { name: "prime-rl", licence: "Apache-2.0", copyright: "Copyright Prime Intellect", file: "prime-rl.json" },
  { name: "ROLL", licence: "Apache-2.0", copyright: "Copyright Alibaba Group", file: "roll.json" },
  {
    name: "SGLang",
    licence: "Apache-2.0",
    copyright: "Copyright 2023-2024 SGLang Team",
    file: "sglang.json",
  },
  { name: "slime", licence: "Apache-2.0", copyright: "Copyright 2025 Zhipu AI", file: "slime.json" },
  { name: "SkyRL", licence: "Apache-2.0", copyright: "Copyright NovaSky-AI", file: "skyrl.json" },
  { name: "Transformers", licence: "Apache-2.0", copyright: huggingFace, file: "transformers.json" },
  { name: "TRL", licence: "Apache-2.0", copyright: huggingFace, file: "trl.json" },
  {
    name: "verl",
    licence: "Apache-2.0",
    copyright: "Copyright 2023-2024 Bytedance Ltd. and/or its affiliates",
    file: "verl.json",
  },
].map((table) => ({ ...table, file: `server/frameworks/releases/tables/${table.file}` }));

/** What the addons of a package are made of (scripts/addon): no package of npm is in them as it is. */
export const addonWorks = [
  { name: "tfjs-node-gpu (addon)", ...google },
  {
    name: "TensorFlow (headers)",
    licence: "Apache-2.0",
    copyright: "Copyright 2015-2026 The TensorFlow Authors. All Rights Reserved.",
  },
  {
    name: "LLVM's libc++, libc++abi and libunwind",
    licence: "Apache-2.0",
    copyright:
      "Copyright (c) 2009-2025 by the contributors listed in LLVM's CREDITS.TXT\nWith the LLVM exceptions: object code may be conveyed without the conditions of sections 4(a), 4(b) and 4(d).",
  },
  { name: "Zig (compiler_rt)", licence: "MIT", copyright: "Copyright (c) Zig contributors" },
  {
    name: "MinGW-w64 (startup code, on Windows)",
    licence: "ZPL-2.1",
    copyright: "Copyright (c) 2009-2025 by the mingw-w64 project",
  },
];
