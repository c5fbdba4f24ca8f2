package cli

const mergeHelp = `bagconv merge [FLAGS] IN IN... OUT

Writes several recordings into one, ordered by time. They may have any formats.
Topics of one name and type become one; where two recordings mean different
things by a name, its definition or type, both stay, apart: as two
of one name where the format of OUT can tell them apart, else the second under a
name with _2 behind it. Memory does not grow with the inputs.

WHICH RECORDINGS
  --shift IN=D          add a duration to all times of one input, such as
                        second{file}=+0.3s; again for others

` + selectHelp + editHelp + outputHelp + strictHelp + extraHelp + runHelp + `EXAMPLES
  bagconv merge front{file} rear{file} both_ros2/
  bagconv merge drive_0/ drive_1/ drive{other} all{other}
  bagconv merge a{file} b{file} -o ab{file} --shift b{file}=-1.25s

EXIT STATUS
  0    OUT is written, nothing is lost but what the format has no place for
  1    failed; there is no output. With --strict also: damage or loss
  2    the command line is wrong
  3    OUT is written, but an input is damaged or something could not be
       converted
  4    --verify has found a difference; there is no output
  130  interrupted; there is no output
`

const filterHelp = `bagconv filter [FLAGS] IN OUT

Takes a part of a recording and writes it in the format of IN, whatever the name
of OUT. In all else it is bagconv convert.

` + selectHelp + editHelp + outputHelp + strictHelp + extraHelp + runHelp + `EXAMPLES
  bagconv filter drive{file} imu{file} -t /imu
  bagconv filter drive_ros2/ ten_seconds/ -S 1m30s -u 10

` + convertExits

const splitHelp = `bagconv split [FLAGS] IN OUT

Writes a recording as several. Each part is whole by itself: it begins with what
latched topics and /tf_static had said before (see --latch). The parts of
out{file} are out_000{file}, out_001{file}, ...; with --by topic they are called as
their topic. When OUT is a folder (/ at the end), they lie in it, called as IN,
and have the format of IN. A part without a message is left out; the numbers of
the others stay. There are 10,000 at most. A run that fails leaves none of them.
IN is read once for 64 parts, and with --max-size once more, to find the times.
--json and --report have an array, an object for each part.

HOW TO SPLIT (one of these)
  --max-size SIZE       before a part has more message data: 2G, 500MB. A number
                        without a unit is bytes, for up to 1,000 parts
  --max-duration D      after so long: 60s, 5m
  --at TIME,TIME...     at these times
  --by topic            a part for each topic

` + selectHelp + editHelp + outputHelp + strictHelp + runHelp + `EXAMPLES
  bagconv split drive{file} parts/ --max-duration 1m
  bagconv split drive{file} part{other} --max-size 2G
  bagconv split drive_ros2/ cut{file} --at 10s,1m30s

EXIT STATUS
  0    all parts are written, nothing is lost but what the format has no place
       for
  1    failed; there is no part. With --strict also: damage or loss
  2    the command line is wrong
  3    the parts are written, but IN is damaged or something could not be
       converted
  4    --verify has found a difference; there is no part
  130  interrupted; there is no part
`
