"""Reads trajectories with evo, and compares them with the poses of a JSON file: [[time in ns, x, y, z, qx, qy, qz, qw],
...]. Arguments: the poses, the TUM file, the KITTI file."""
import json
import sys
from decimal import Decimal

import numpy as np
from evo.tools import file_interface
from scipy.spatial.transform import Rotation

poses = json.load(open(sys.argv[1]))
tum = file_interface.read_tum_trajectory_file(sys.argv[2])
kitti = file_interface.read_kitti_poses_file(sys.argv[3])
assert tum.num_poses == kitti.num_poses == len(poses), (tum.num_poses, kitti.num_poses)
values = np.array([p[1:] for p in poses])
assert (tum.timestamps == np.array([float(Decimal(p[0]).scaleb(-9)) for p in poses])).all()
for line, pose in zip(open(sys.argv[2]), poses):
    assert Decimal(line.split()[0]).scaleb(9) == pose[0], line
assert (tum.positions_xyz == values[:, :3]).all()
assert (np.roll(tum.orientations_quat_wxyz, -1, axis=1) == values[:, 3:]).all()
for matrix, pose in zip(kitti.poses_se3, poses):
    assert (matrix[:3, 3] == pose[1:4]).all()
    assert np.abs(matrix[:3, :3] - Rotation.from_quat(pose[4:]).as_matrix()).max() < 1e-12, pose
for trajectory in tum, kitti:
    valid, details = trajectory.check()
    assert valid, details
print("compared", len(poses))
