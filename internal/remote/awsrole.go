package remote

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// roleTimeout is how long a server that gives out the credentials of roles may take.
const roleTimeout = 10 * time.Second

// awsRole returns the credentials of a role: of a web identity or a container, which variables name,
// else of an instance, whose address answers at once or not at all; nil if the variables exclude it.
// named reports whether the variables name a role.
func awsRole() (role *credentials.IAM, named bool) {
	variable := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return os.Getenv(name) != "" })
	}
	machine := os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")
	switch {
	case variable("AWS_WEB_IDENTITY_TOKEN_FILE"):
		return &credentials.IAM{Client: &http.Client{Timeout: roleTimeout}, Endpoint: os.Getenv("AWS_ENDPOINT_URL_STS")}, true
	case variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"):
		return &credentials.IAM{Client: &http.Client{Timeout: roleTimeout}}, true
	case os.Getenv("AWS_EC2_METADATA_DISABLED") == "true" || machine == "" && variable("AWS_ENDPOINT_URL",
		"AWS_ENDPOINT_URL_S3"):
		return nil, false
	}
	dial := &net.Dialer{Timeout: time.Second}
	return &credentials.IAM{Client: &http.Client{Timeout: 2 * time.Second,
		Transport: &http.Transport{DialContext: dial.DialContext}}, Endpoint: machine}, false
}

// longestChain is how many profiles may name each other as source_profile.
const longestChain = 5

// profileRole returns the credentials of the role that a profile names with role_arn; nil if it names none.
func profileRole(profile map[string]string, region string, depth int) (credentials.Provider, error) {
	arn := profile["role_arn"]
	session := cmp.Or(os.Getenv("AWS_ROLE_SESSION_NAME"), profile["role_session_name"], "bagconv")
	switch {
	case arn == "" || os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "": // which counts before profiles
		return nil, nil
	case profile["mfa_serial"] != "":
		return nil, fmt.Errorf("the role %s of the profile needs a code of a device (mfa_serial), which is not asked for: "+
			"set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN to what aws sts assume-role returns", arn)
	case depth >= longestChain:
		return nil, fmt.Errorf("the role %s of the profile: more than %d profiles name each other as source_profile", arn,
			longestChain)
	}
	client := &http.Client{Timeout: roleTimeout}
	if file := profile["web_identity_token_file"]; file != "" {
		role := &credentials.IAM{Client: client, Endpoint: os.Getenv("AWS_ENDPOINT_URL_STS"), Region: region}
		role.EKSIdentity.TokenFile, role.EKSIdentity.RoleARN, role.EKSIdentity.RoleSessionName = file, arn, session
		return role, nil
	}
	sources, err := roleSources(profile, region, depth)
	if err != nil {
		return nil, err
	}
	seconds, _ := strconv.Atoi(profile["duration_seconds"])
	role := &assumedRole{source: credentials.NewChainCredentials(sources)}
	role.Client, role.STSEndpoint = client, cmp.Or(os.Getenv("AWS_ENDPOINT_URL_STS"), stsEndpoint(region))
	role.Options = credentials.STSAssumeRoleOptions{
		RoleARN: arn, RoleSessionName: session, ExternalID: profile["external_id"], DurationSeconds: seconds,
		Location: cmp.Or(region, "us-east-1"),
	}
	return role, nil
}

// roleSources returns the providers of the credentials that ask for the role of a profile.
func roleSources(profile map[string]string, region string, depth int) ([]credentials.Provider, error) {
	switch name, source := profile["source_profile"], profile["credential_source"]; {
	case name != "":
		from, err := awsProfile(name)
		if err != nil {
			return nil, err
		}
		keys := []credentials.Provider{&credentials.FileAWSCredentials{Profile: name}}
		if from["role_arn"] == profile["role_arn"] { // a profile may be its own source
			return keys, nil
		}
		role, err := profileRole(from, region, depth+1)
		if err != nil || role != nil {
			return []credentials.Provider{role}, err
		}
		return keys, nil
	case source == "Environment":
		return []credentials.Provider{&credentials.EnvAWS{}}, nil
	case source == "Ec2InstanceMetadata" || source == "EcsContainer":
		if role, _ := awsRole(); role != nil {
			role.Region = region
			return []credentials.Provider{role}, nil
		}
		fallthrough
	default:
		return nil, fmt.Errorf("the role %s of the profile has no source of credentials here: set source_profile",
			profile["role_arn"])
	}
}

// stsEndpoint returns the host of Amazon that gives out the credentials of roles in a region.
func stsEndpoint(region string) string {
	switch {
	case region == "":
		return "https://sts.amazonaws.com"
	case strings.HasPrefix(region, "cn-"):
		return "https://sts." + region + ".amazonaws.com.cn"
	}
	return "https://sts." + region + ".amazonaws.com"
}

// An assumedRole asks for the credentials of a role with the credentials of its source.
type assumedRole struct {
	credentials.STSAssumeRole
	source *credentials.Credentials
}

// Retrieve asks. See credentials.Provider.
func (r *assumedRole) Retrieve() (credentials.Value, error) {
	return r.RetrieveWithCredContext(&credentials.CredContext{Client: r.Client})
}

// RetrieveWithCredContext asks. See credentials.Provider.
func (r *assumedRole) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	v, err := r.source.GetWithContext(cc)
	if err == nil && v.AccessKeyID == "" {
		err = fmt.Errorf("the source of the role %s has no credentials", r.Options.RoleARN)
	}
	if err != nil {
		return v, err
	}
	r.Options.AccessKey, r.Options.SecretKey, r.Options.SessionToken = v.AccessKeyID, v.SecretAccessKey, v.SessionToken
	return r.STSAssumeRole.RetrieveWithCredContext(cc)
}
