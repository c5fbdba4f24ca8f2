// count.mjs BAG...: reads bags with npm's @foxglove/rosbag, a line of JSON for each: path, messages, and the problem
// if it cannot. BAGCONV_NODE_MODULES is the folder that has it, and the packages that decompress for it.
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(path.join(path.resolve(process.env.BAGCONV_NODE_MODULES), "from.js"));
const { Bag } = require("@foxglove/rosbag");
const { FileReader } = require("@foxglove/rosbag/node");
const lz4 = require("@foxglove/wasm-lz4");
const wasm = require("@foxglove/wasm-bz2");
const Bzip2 = wasm.default ?? wasm;

await lz4.isLoaded;
const bz2 = await Bzip2.init();
const decompress = {
  lz4: (data, size) => lz4(data, size),
  bz2: (data, size) => bz2.decompress(data, size, { small: false }),
};

for (const file of process.argv.slice(2)) {
  const out = { path: file, messages: 0, problem: "" };
  const reader = new FileReader(file);
  try {
    const bag = new Bag(reader, { parse: false, decompress });
    await bag.open();
    for await (const _ of bag.messageIterator()) out.messages++;
  } catch (e) {
    out.problem = String(e);
  }
  await reader.close();
  console.log(JSON.stringify(out));
}
