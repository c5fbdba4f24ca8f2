"""publish.py TOPIC: a server of PyPI's foxglove-sdk on a free port that takes CDR of its clients, as foxglove_bridge does,
and in whose connection graph TOPIC alone has a subscriber. It prints the port as a line of JSON. When a client withdraws its channels, it prints what it has got, as a line of
{topic: [schema name, schema encoding, length of the schema, messages, SHA-256 of their data]}, and ends."""

import hashlib
import json
import sys
import threading

import foxglove
from foxglove.websocket import Capability, ConnectionGraph, ServerListener

channels, sums, ended = {}, {}, threading.Event()


class Listener(ServerListener):
    def on_client_advertise(self, client, channel):
        channels[channel.id] = channel
        sums[channel.id] = [0, hashlib.sha256()]

    def on_message_data(self, client, client_channel_id, data):
        sums[client_channel_id][0] += 1
        sums[client_channel_id][1].update(data)

    def on_client_unadvertise(self, client, client_channel_id):
        if client_channel_id == max(channels):
            ended.set()


server = foxglove.start_server(
    name="peer",
    port=0,
    server_listener=Listener(),
    capabilities=[Capability.ClientPublish, Capability.ConnectionGraph],
    supported_encodings=["cdr"],
)
graph = ConnectionGraph()
graph.set_subscribed_topic(sys.argv[1], ["/listener"])
server.publish_connection_graph(graph)
print(json.dumps(server.port), flush=True)
ended.wait(60)
print(
    json.dumps(
        {
            c.topic: [c.schema_name, c.schema_encoding, len(c.schema or b""), sums[c.id][0], sums[c.id][1].hexdigest()]
            for c in channels.values()
        }
    ),
    flush=True,
)
server.stop()
