"""Print the ROS 1 messages that Debian's packages know, and those of extra.txt and packages.txt, as JSON: name -> [text without comments, md5sum].

Needs: python3-{std,sensor,geometry,nav,tf2,diagnostic,visualization,stereo,rosgraph,trajectory,shape,actionlib,map,move-base,pcl}-msgs
python3-{genmsg,tf,actionlib,bond,dynamic-reconfigure,roscpp-msg}
"""
import importlib, inspect, json

from genmsg import gentools, msg_loader

PACKAGES = ('std_msgs sensor_msgs geometry_msgs nav_msgs tf2_msgs diagnostic_msgs visualization_msgs stereo_msgs rosgraph_msgs '
            'trajectory_msgs shape_msgs actionlib_msgs map_msgs move_base_msgs pcl_msgs tf actionlib bond dynamic_reconfigure roscpp').split()
out = {}
for pkg in PACKAGES:
    mod = importlib.import_module(pkg + '.msg')
    for _, cls in inspect.getmembers(mod, inspect.isclass):
        if not hasattr(cls, '_md5sum'):
            continue
        lines = []
        for line in cls._full_text.split('\n' + '=' * 80)[0].split('\n'):
            code = line.split('#')[0].strip()
            if code.startswith('string ') and '=' in code:          # '#' is part of a string constant
                code = line.strip()
            if code:
                words = code.split(None, 1)
                lines.append(words[0] + ' ' + words[1].strip())
        out[cls._type] = ['\n'.join(lines), cls._md5sum]
context = msg_loader.MsgContext.create_default()
for name, (body, _) in list(out.items()):
    msg_loader.load_msg_from_string(context, body, name)
specs = {}
for block in (open('extra.txt').read() + open('packages.txt').read()).split('== ')[1:]:
    head, _, body = block.partition('\n')
    if head.split()[1:] == ['noetic'] and head.split()[0] not in out:
        name, body = head.split()[0], body.strip('\n')
        specs[name] = body, msg_loader.load_msg_from_string(context, body, name)
msg_loader.load_msg_from_string(context, 'uint8[16] uuid', 'uuid_msgs/UniqueID')   # geographic_msgs has such fields
for name, (body, spec) in specs.items():
    out[name] = [body, gentools.compute_md5(context, spec)]
print(json.dumps(out, sort_keys=True))
