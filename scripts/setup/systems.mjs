// What the native engine is made of on each system that TensorFlow has a wheel for: the wheels with their checksums, the
// files taken out of them and where each lies in the engine's folder, and the target that the addon is compiled for.

/** Where the addon lies in an engine's folder, on every system. */
export const addonPath = "lib/napi-v8/tfjs_binding.node";

const elf = (machine) => ({
  target: `${machine}-linux-gnu.2.27`,
  libraries: {
    "tensorflow/libtensorflow_cc.so.2": "deps/lib/libtensorflow_cc.so.2",
    "tensorflow/libtensorflow_framework.so.2": "deps/lib/libtensorflow_framework.so.2",
  },
});

/**
 * `sha256`: of the file that was tried; another is refused. Without one what the index says is checked. `python`: which of
 * the wheels, which hold the same library; on Windows it wants that Python's DLL, and the addon's folder has a stand-in.
 */
export const systems = {
  "linux-x64": {
    ...elf("x86_64"),
    cpu: {
      name: "tensorflow-cpu",
      python: "3.11",
      platforms: ["manylinux_2_27_x86_64"],
      sha256: "2b847d217b02ee7731ed91431daf3250daa0196c3c94614d23be27232e6e5b6c",
      bytes: 274e6,
    },
    gpu: {
      name: "tensorflow",
      python: "3.11",
      platforms: ["manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"],
      extra: "and-cuda",
    },
  },
  "linux-arm64": {
    ...elf("aarch64"),
    cpu: {
      name: "tensorflow",
      python: "3.12",
      platforms: ["manylinux_2_27_aarch64"],
      sha256: "b07d15737406533898e36c7ef7944b1be18e9028dc521b9229952c537bbc5552",
      bytes: 282e6,
    },
  },
  "darwin-arm64": {
    target: "aarch64-macos.12.0",
    libraries: {
      "tensorflow/libtensorflow_cc.2.dylib": "deps/lib/libtensorflow_cc.2.dylib",
      "tensorflow/libtensorflow_framework.2.dylib": "deps/lib/libtensorflow_framework.2.dylib",
    },
    cpu: {
      name: "tensorflow",
      python: "3.12",
      platforms: ["macosx_12_0_arm64"],
      sha256: "56ecd7d47429acbe1df2694d50b75bf9fc3995ac92cb367cd9af6c4780ead712",
      bytes: 223e6,
    },
  },
  "win32-x64": {
    target: "x86_64-windows-gnu",
    // Windows looks for a DLL beside the one that wants it, and nowhere relative to it.
    libraries: {
      "tensorflow/python/_pywrap_tensorflow_common.dll": "lib/napi-v8/_pywrap_tensorflow_common.dll",
    },
    cpu: {
      name: "tensorflow",
      python: "3.12",
      platforms: ["win_amd64"],
      sha256: "27ba0682572b1e50a0db1ee74cfb787eafcfdb1b751bbbf401fed62fe32a92e0",
      bytes: 351e6,
    },
    /** Microsoft's runtime of C++, which a bare Windows lacks. */
    runtime: {
      name: "msvc-runtime",
      version: "14.51.36231",
      python: "3.12",
      platforms: ["win_amd64"],
      sha256: "89f70d1a37bb64164cdb09d02dd82d6b1400e1310be2995b4ed5a9f23efe2222",
      bytes: 2e6,
      members: ["msvcp140.dll", "vcruntime140.dll", "vcruntime140_1.dll"].map((name) => [
        `msvc_runtime-14.51.36231.data/data/Scripts/${name}`,
        `lib/napi-v8/${name}`,
      ]),
    },
  },
};

const usesGlibc = ({ report }) => report?.getReport().header.glibcVersionRuntime !== undefined;

/** As the table names systems; one of musl is another than one of glibc. */
export const systemOf = (node = process) =>
  `${node.platform}-${node.arch}${node.platform === "linux" && !usesGlibc(node) ? "-musl" : ""}`;

/** Why there is no native engine for a system that the table lacks. */
export function whyNone(system) {
  if (system === "darwin-x64") return "TensorFlow is no longer made for Macs with Intel's processors";
  if (system === "win32-arm64") return "TensorFlow is not made for Windows on ARM";
  if (system.endsWith("-musl")) return "TensorFlow's library needs glibc, and this system has musl";
  return `TensorFlow is not made for ${system}`;
}

/** {target, libraries, cpu, gpu?, runtime?}; undefined where there is none. */
export const partsOf = (system) => systems[system];
export const libraryName = (path) => path.slice(path.lastIndexOf("/") + 1);
