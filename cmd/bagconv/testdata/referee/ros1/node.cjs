// A ROS 1 node by @foxglove/ros1, which shares nothing with rospy and roscpp.
//
//   node node.cjs subscribe TOPIC TYPE COUNT   prints how many messages came, and the SHA-256 of their bytes
//   node node.cjs publish TOPIC COUNT          publishes numbered strings, latched, when somebody has subscribed
//
// BAGCONV_NODE_MODULES has the modules, ROS_MASTER_URI the master.
const { createHash } = require("node:crypto");
const { createRequire } = require("node:module");
const modules = createRequire(process.env.BAGCONV_NODE_MODULES + "/x.js");
const { RosNode } = modules("@foxglove/ros1");
const { TcpServerNode, TcpSocketNode } = modules("@foxglove/ros1/nodejs");
const { HttpServerNodejs } = modules("@foxglove/xmlrpc/nodejs");
const net = require("node:net");

async function main() {
  const [, , what, topic, ...rest] = process.argv;
  const listener = net.createServer();
  await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const node = new RosNode({
    name: "/js_" + what, rosMasterUri: process.env.ROS_MASTER_URI, hostname: "127.0.0.1", pid: process.pid,
    httpServer: new HttpServerNodejs(), tcpSocketCreate: TcpSocketNode.Create, tcpServer: new TcpServerNode(listener),
  });
  await node.start();
  if (what === "subscribe") {
    const [dataType, count] = [rest[0], Number(rest[1])];
    const hash = createHash("sha256");
    let n = 0;
    node.subscribe({ topic, dataType }).on("message", (message, data) => {
      hash.update(data);
      if (++n === count) {
        console.log(n, hash.digest("hex"));
        setTimeout(() => process.exit(0), 3000); // it does not leave before the player does
      }
    });
    return;
  }
  await node.advertise({ topic, dataType: "std_msgs/String", latching: true, messageDefinitionText: "string data\n" });
  const publication = node.publications.get(topic);
  while (publication.subscribers().size === 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  for (let i = 0; i < Number(rest[0]); i++) {
    await node.publish(topic, { data: "js " + i });
  }
  console.log("published");
}

main().catch((err) => {
  console.error(err);
  process.exit(1);
});
